package main

import "context"

// minimise returns the shortest sequence it finds that still shows a problem
// nobody explains: it leaves out runs of steps, ever shorter ones, as long as
// that succeeds.
func (p *player) minimise(ctx context.Context, steps []step, found *problem) ([]step, *problem, error) {
	steps = steps[:found.at+1]
	for size := max(1, len(steps)/2); size > 0; size /= 2 {
		for at := 0; at+size < len(steps); {
			shorter := append(append([]step{}, steps[:at]...), steps[at+size:]...)
			problem, err := p.play(ctx, shorter)
			if err != nil {
				return nil, nil, err
			}
			if problem == nil {
				at += size
				continue
			}
			steps, found = shorter[:problem.at+1], problem
		}
	}
	return steps, found, nil
}
