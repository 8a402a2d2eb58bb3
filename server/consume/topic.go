package consume

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicID is one incarnation of a topic; text is as Kafka's own tools print it.
type topicID [16]byte

func (id topicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

var errNoTopic = errors.New("the topic does not exist")

// describeTopic asks the broker, not the client's cache, who a topic is and how many partitions it has.
func describeTopic(ctx context.Context, cl *kgo.Client, topic string) (id topicID, partitions int, err error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return id, 0, fmt.Errorf("ask for the topic: %w", err)
	}
	for i := range resp.Topics {
		rt := &resp.Topics[i]
		if rt.Topic == nil || *rt.Topic != topic {
			continue
		}
		if e := kerr.ErrorForCode(rt.ErrorCode); errors.Is(e, kerr.UnknownTopicOrPartition) {
			break
		} else if e != nil {
			return id, 0, fmt.Errorf("ask for the topic: %w", e)
		}
		return rt.TopicID, len(rt.Partitions), nil
	}
	return id, 0, fmt.Errorf("%w: %s", errNoTopic, topic)
}
