package fault

import (
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// owners is who owns which partition of a group, as the requests to the coordinator say: a member has a
// partition from the leader's assignment on, until it joins again without claiming it or another gets it.
type owners struct {
	mu      sync.Mutex
	of      map[int32]string // a member's id by partition
	moved   int              // assignments that took a partition from one member to another
	told    int              // offsets that were committed by an owner
	joins   map[string]int   // by member; "" is new
	beats   map[string]int
	commits int // requests
	foreign []string
}

// watchOwners follows the only group of a cluster.
func watchOwners(cluster *kfake.Cluster) *owners {
	o := &owners{of: map[int32]string{}, joins: map[string]int{}, beats: map[string]int{}}
	last := map[int32]string{}
	for key, see := range map[kmsg.Key]func(kmsg.Request){
		kmsg.JoinGroup: func(req kmsg.Request) {
			join, ok := req.(*kmsg.JoinGroupRequest)
			if !ok {
				return
			}
			o.joins[join.MemberID]++
			claimed := claims(join)
			for p, owner := range o.of {
				if owner == join.MemberID && !slices.Contains(claimed, p) {
					delete(o.of, p)
				}
			}
		},
		kmsg.SyncGroup: func(req kmsg.Request) {
			sync, ok := req.(*kmsg.SyncGroupRequest)
			if !ok {
				return
			}
			for _, a := range sync.GroupAssignment {
				for _, p := range assigned(a.MemberAssignment) {
					if last[p] != "" && last[p] != a.MemberID {
						o.moved++
					}
					o.of[p], last[p] = a.MemberID, a.MemberID
				}
			}
		},
		kmsg.Heartbeat: func(req kmsg.Request) {
			if beat, ok := req.(*kmsg.HeartbeatRequest); ok {
				o.beats[beat.MemberID]++
			}
		},
		kmsg.OffsetCommit: func(req kmsg.Request) {
			commit, ok := req.(*kmsg.OffsetCommitRequest)
			if !ok {
				return
			}
			o.commits++
			for _, topic := range commit.Topics {
				for _, p := range topic.Partitions {
					if owner := o.of[p.Partition]; owner != commit.MemberID {
						o.foreign = append(o.foreign, fmt.Sprintf("%s told offset %d of partition %d, which %q owned", commit.MemberID, p.Offset, p.Partition, owner))
					} else {
						o.told++
					}
				}
			}
		},
	} {
		cluster.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			o.mu.Lock()
			defer o.mu.Unlock()
			see(req)
			return nil, nil, false
		})
	}
	return o
}

// claims are the partitions that a member says it still has.
func claims(join *kmsg.JoinGroupRequest) (parts []int32) {
	for _, p := range join.Protocols {
		var meta kmsg.ConsumerMemberMetadata
		if err := meta.ReadFrom(p.Metadata); err != nil {
			continue // no consumer's protocol: it claims nothing
		}
		for _, owned := range meta.OwnedPartitions {
			parts = append(parts, owned.Partitions...)
		}
	}
	return parts
}

func assigned(assignment []byte) (parts []int32) {
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(assignment); err != nil {
		return nil
	}
	for _, topic := range a.Topics {
		parts = append(parts, topic.Partitions...)
	}
	return parts
}

// of n members, each has beaten so often since the counts that were read before.
func (o *owners) beatsSince(before map[string]int, members []string) (fewest int) {
	now := o.heartbeats()
	fewest = 1 << 30
	for _, m := range members {
		fewest = min(fewest, now[m]-before[m])
	}
	return fewest
}

func (o *owners) heartbeats() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := map[string]int{}
	for m, n := range o.beats {
		now[m] = n
	}
	return now
}

// seen is a copy of the counts.
func (o *owners) seen() (joins, moved, told, commits int, foreign []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.joins {
		joins += n
	}
	return joins, o.moved, o.told, o.commits, slices.Clone(o.foreign)
}
