package geminimodel

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

// chunk is what is read of one event.
type chunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage        *usage `json:"usageMetadata"`
	ModelVersion string `json:"modelVersion"`
}

type part struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature []byte `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

type usage struct {
	Prompt    int64 `json:"promptTokenCount"`
	ToolUse   int64 `json:"toolUsePromptTokenCount"`
	Cached    int64 `json:"cachedContentTokenCount"`
	Candidate int64 `json:"candidatesTokenCount"`
	Thoughts  int64 `json:"thoughtsTokenCount"`
}

// answer reads one answer.
type answer struct {
	collector *models.Collector
	stream    *wire.Stream
	usage     *usage
	stop      models.StopReason
	some      bool
}

func (a *answer) read() error {
	for {
		next, err := a.stream.Next()
		if err == io.EOF {
			return a.finish()
		}
		if err != nil {
			return err
		}
		data := bytes.TrimSpace(next.Data)
		switch {
		case len(data) == 0:
			continue
		case next.Name == "error" || wire.HasError(data):
			return a.stream.Fail(data)
		}
		if err := a.takeAll(data); err != nil {
			return err
		}
	}
}

// takeAll takes one chunk, or the list that comes where a proxy put a stream into one document.
func (a *answer) takeAll(data []byte) error {
	list := []chunk{{}}
	err := error(nil)
	if data[0] == '[' {
		err = json.Unmarshal(data, &list)
	} else {
		err = json.Unmarshal(data, &list[0])
	}
	if err != nil {
		return a.stream.Broken(models.Clip("the answer is not what generated content looks like: " + err.Error()))
	}
	for i := range list {
		if err := a.take(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish is the end of the stream, which has no mark of its own.
func (a *answer) finish() error {
	switch {
	case !a.some:
		return a.stream.Broken("an empty answer came")
	case a.stop == "":
		return a.stream.Broken("the answer broke off")
	}
	if a.usage == nil {
		return nil
	}
	return a.collector.Usage(models.Usage{
		InputTokens:     max(0, a.usage.Prompt) + max(0, a.usage.ToolUse),
		OutputTokens:    max(0, a.usage.Candidate) + max(0, a.usage.Thoughts),
		CachedTokens:    max(0, a.usage.Cached),
		ReasoningTokens: max(0, a.usage.Thoughts),
	})
}

func (a *answer) take(c *chunk) error {
	a.some = true
	if c.ModelVersion != "" {
		a.collector.Model(c.ModelVersion)
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	if c.PromptFeedback.BlockReason != "" {
		a.stop = models.StopFiltered
	}
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue
		}
		for _, p := range candidate.Content.Parts {
			if err := a.part(p); err != nil {
				return err
			}
		}
		a.stopped(candidate.FinishReason)
	}
	return nil
}

func (a *answer) part(p part) error {
	switch {
	case p.Call != nil:
		return a.collector.Call(models.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Args, Signature: p.Signature})
	case p.Thought:
		return a.collector.Reasoning(p.Text)
	}
	return a.collector.Text(p.Text)
}

func (a *answer) stopped(reason string) {
	switch reason {
	case "", "FINISH_REASON_UNSPECIFIED":
	case "STOP":
		a.stop = models.StopEnd
	case "MAX_TOKENS":
		a.stop = models.StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		a.stop = models.StopFiltered
	default:
		a.stop = models.StopOther
	}
}
