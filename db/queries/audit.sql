-- name: AddAudit :one
-- One row; an operation has one beginning and one end, by audit_begin_idx and audit_outcome_idx.
INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles, target, reason, detail,
                   request_id, address, before, after, folded)
VALUES (@operation, @phase, @action, @outcome, @actor_kind, @actor, @actor_id, @roles, @target, @reason, @detail,
        @request_id, @address, @before, @after, @folded)
RETURNING id, at;

-- name: EndAudit :execrows
-- The end of an operation that may have one. Where the end that came with the effect is still being committed,
-- this waits for what becomes of it.
INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles, target, reason, detail,
                   request_id, address, folded)
VALUES (@operation, 'outcome', @action, @outcome, @actor_kind, @actor, @actor_id, @roles, @target, @reason, @detail,
        @request_id, @address, @folded)
ON CONFLICT (operation) WHERE phase = 'outcome' DO NOTHING;
