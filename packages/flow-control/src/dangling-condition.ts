import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';

/** The condition of a FlowSchema that reports whether its priority level is missing. */
export type FlowCondition = {
  type: 'Dangling';
  status: 'True' | 'False';
  reason: string;
  message: string;
};

/**
 * Returns the condition that the server must add to a FlowSchema's status; undefined if the status already has it. `levels`: the names of
 * all priority levels.
 */
export function danglingCondition(schema: ApiObject, levels: ReadonlySet<string>): FlowCondition | undefined {
  const name = textAt(schema, 'spec', 'priorityLevelConfiguration', 'name');
  const refers = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
  const condition: FlowCondition = levels.has(name)
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${refers} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${refers} but there is no such object` };
  const present = objectsAt(schema, 'status', 'conditions').find((one) => textAt(one, 'type') === condition.type);
  const fields = ['status', 'reason', 'message'] as const;
  return fields.every((field) => textAt(present, field) === condition[field]) ? undefined : condition;
}
