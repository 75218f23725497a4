package openaimodel

import (
	"encoding/json"
	"strings"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

// chunk is what is read of one event, or of a whole answer.
type chunk struct {
	Model   text     `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"` // of an answer that is not streamed
	FinishReason text   `json:"finish_reason"`
}

type delta struct {
	Content          text        `json:"content"`
	Refusal          text        `json:"refusal"`
	ReasoningContent text        `json:"reasoning_content"`
	Reasoning        text        `json:"reasoning"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int `json:"index"`
	ID       text `json:"id"`
	Function struct {
		Name      text      `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// text is a string that may be null, or a list of parts of which the texts are meant.
type text string

// UnmarshalJSON implements json.Unmarshaler. What has no text is none.
func (t *text) UnmarshalJSON(data []byte) error {
	if plain, err := wire.Unquote(data); err == nil {
		*t = text(plain)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &parts) != nil {
		return nil
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			b.WriteString(p.Text)
		}
	}
	*t = text(b.String())
	return nil
}

// arguments are a piece of JSON in a string, or the JSON itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(data []byte) error {
	var plain string
	if json.Unmarshal(data, &plain) == nil {
		*a = arguments(plain) // null as well, which is ""
		return nil
	}
	*a = arguments(data)
	return nil
}

type usage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usage) counted() models.Usage {
	return models.Usage{
		InputTokens: max(0, u.Prompt), OutputTokens: max(0, u.Completion),
		CachedTokens: max(0, u.PromptDetails.Cached), ReasoningTokens: max(0, u.CompletionDetails.Reasoning),
	}
}
