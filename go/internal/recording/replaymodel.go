package recording

import (
	"context"
	"fmt"

	"github.com/hukilau/hukilau/go/internal/models"
)

// answerModel gives back what came of the same request: equal ones in their order.
func (r *Run) answerModel(ctx context.Context, asked *question, emit func(models.Event) error) (*models.Response, error) {
	q, err := r.matchModel(asked)
	if err != nil {
		return nil, err
	}
	for _, e := range q.Events {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := emit(e.model()); err != nil {
			return q.Answer.response(), err
		}
	}
	switch {
	case q.Failure != nil:
		return q.Answer.response(), q.Failure.model()
	case q.End == left:
		r.session.mu.Lock()
		defer r.session.mu.Unlock()
		return q.Answer.response(), r.missingModel("the rest of the answer to " + q.asked() + ", of which the recorded run heard no more")
	case q.End == waiting || q.Answer == nil:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return q.Answer.response(), nil
}

func (r *Run) matchModel(asked *question) (*question, error) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	times, most := 0, -1
	var near *question
	for _, q := range r.entry.Models {
		if q.Model == asked.Model && q.Digest == asked.Digest {
			if !r.asked[q] {
				r.asked[q] = true
				return q, nil
			}
			times++
		}
		like := alike(string(q.Request), string(asked.Request)) + alike(q.Last, asked.Last)
		if q.Model == asked.Model {
			like += 1000
		}
		if like > most {
			near, most = q, like
		}
	}
	text := asked.asked()
	switch {
	case times > 0:
		text += ", which is in it " + counted(times)
	case near != nil && near.Model == asked.Model && near.Last == asked.Last:
		text += "; the nearest that it has ends alike: what differs is before its last message, or in tools and options"
	case near != nil:
		text += "; the nearest that it has is " + near.asked()
	default:
		text += "; it has no request to a model in this run"
	}
	return nil, r.missingModel(text)
}

func (r *Run) missingModel(text string) error {
	r.miss(text)
	return &models.Error{Code: models.CodeUpstream, Message: fmt.Sprintf(
		"the recording %s has no answer to this: %s", r.session.options.Name, text)}
}
