package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
)

// assetPrefix is where pages find their style, script and icon.
const assetPrefix = PagePrefix + "assets/"

//go:embed assets pages
var embedded embed.FS

// asset is a file that pages refer to. Its address changes with its content, so that
// browsers may keep it.
type asset struct {
	kind    string
	content []byte
	address string
}

// assets returns the files by name.
func assets() map[string]asset {
	kinds := map[string]string{
		"style.css": "text/css; charset=utf-8", "dashboard.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	}
	out := make(map[string]asset, len(kinds))
	for name, kind := range kinds {
		content, err := embedded.ReadFile(path.Join("assets", name))
		if err != nil {
			continue // TestEveryAssetIsThere
		}
		sum := sha256.Sum256(content)
		out[name] = asset{kind, content, assetPrefix + name + "?v=" + hex.EncodeToString(sum[:6])}
	}
	return out
}

func (p *pages) asset(w http.ResponseWriter, name string) {
	file, ok := p.files[name]
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	p.send(w, file.content)
}
