// Makes the pages live. Each page is whole without it: what changes is asked of the
// server as the same page again, and taken over part by part as parsed elements.
'use strict';

(() => {
  const restMilliseconds = 2000; // between two refreshes
  const retryMilliseconds = 30000; // after the server had no room for a stream
  const typingMilliseconds = 150;

  const live = document.getElementById('live');
  const liveText = document.getElementById('live-text');
  const pause = document.getElementById('pause');
  const form = document.getElementById('filter');
  const search = document.getElementById('search');

  let paused = false;
  let asked = 0; // number of the newest request
  let refreshedAt = 0;
  let waiting = 0; // timer of the next refresh

  const show = (state, text) => {
    live.hidden = false;
    live.className = 'live ' + state;
    if (liveText.textContent !== text) liveText.textContent = text;
  };

  // stateOf remembers what each row said.
  const stateOf = (part) => new Map([...part.querySelectorAll('[data-key]')].map((row) => [row.dataset.key, row.dataset.state]));

  // mark lights up the rows that are new or say something else.
  const mark = (before, part) => {
    for (const row of part.querySelectorAll('[data-key]')) {
      if (before.get(row.dataset.key) !== row.dataset.state || !before.has(row.dataset.key)) row.classList.add('changed');
    }
  };

  // partsOf names the parts of a page that change.
  const partsOf = (page) => [...page.querySelectorAll('main [data-live]')].map((part) => part.id).join();

  // take puts the parts of a fresh page in the places of the old ones.
  const take = (fresh, sameQuestion) => {
    document.title = fresh.title;
    if (partsOf(fresh) !== partsOf(document)) { // an instance came or left
      document.querySelector('main').replaceWith(document.importNode(fresh.querySelector('main'), true));
      return;
    }
    for (const part of document.querySelectorAll('[data-live]')) {
      const next = fresh.getElementById(part.id);
      if (!next || next.outerHTML === part.outerHTML) continue;
      const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
      if (sameQuestion) mark(stateOf(part), next);
      const adopted = document.importNode(next, true);
      part.replaceWith(adopted);
      if (focused !== null) {
        [...adopted.querySelectorAll('a')].find((a) => a.getAttribute('href') === focused)?.focus({ preventScroll: true });
      }
    }
  };

  const load = async (address, sameQuestion) => {
    const number = ++asked;
    refreshedAt = Date.now();
    try {
      const answer = await fetch(address, { headers: { Accept: 'text/html' }, cache: 'no-store' });
      if (!answer.ok && answer.status !== 404) return;
      const text = await answer.text();
      if (number !== asked) return; // a newer question is on its way
      take(new DOMParser().parseFromString(text, 'text/html'), sameQuestion);
    } catch {
      // The stream says that the server is away.
    }
  };

  const refresh = () => {
    if (paused || waiting || document.hidden) return;
    const wait = Math.max(0, refreshedAt + restMilliseconds - Date.now());
    waiting = setTimeout(() => {
      waiting = 0;
      const selecting = String(document.getSelection()) !== '';
      if (!paused && !selecting) load(location.href, true);
    }, wait);
  };

  const connect = () => {
    const stream = new EventSource(document.body.dataset.stream);
    stream.onopen = () => { if (!paused) show('on', 'Live'); };
    stream.addEventListener('changed', refresh);
    stream.addEventListener('tick', refresh);
    stream.onerror = () => {
      if (!paused) show('off', 'Reconnecting');
      if (stream.readyState !== EventSource.CLOSED) return; // it tries again by itself
      setTimeout(connect, retryMilliseconds * (0.5 + Math.random()));
    };
    window.addEventListener('pagehide', () => stream.close(), { once: true });
  };

  pause.addEventListener('click', () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    show(paused ? 'paused' : 'on', paused ? 'Paused' : 'Live');
    refresh();
  });
  document.addEventListener('visibilitychange', refresh);
  window.addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

  // ask filters while somebody types.
  let typing = 0;
  const ask = () => {
    const query = new URLSearchParams(new FormData(form));
    for (const [key, value] of [...query]) if (value === '') query.delete(key);
    const text = query.toString();
    history.replaceState(null, '', text ? form.action + '?' + text : form.action);
    load(location.href, false);
  };
  if (form) {
    form.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(ask, typingMilliseconds); });
    form.addEventListener('submit', (event) => { event.preventDefault(); clearTimeout(typing); ask(); });
  }

  document.addEventListener('keydown', (event) => {
    if (!search || event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target.closest('input, select, textarea');
    if (event.key === '/' && !writing) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === 'Escape' && event.target === search) {
      if (search.value === '') { search.blur(); return; }
      search.value = '';
      ask();
    }
  });

  document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  show('off', 'Connecting');
  connect();
})();
