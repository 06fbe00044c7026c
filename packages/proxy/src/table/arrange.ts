import { type Endpoint, endpointKey } from '../services/endpoints.ts';

/**
 * Orders endpoints so that as few as possible change their number: existing ones keep theirs, new ones fill the numbers that became free,
 * and the last ones fill any remaining gaps. `before`: endpoint keys by number.
 */
export function arrangeEndpoints(before: readonly string[], endpoints: readonly Endpoint[]): Endpoint[] {
  const wanted = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const slots: (Endpoint | undefined)[] = before.map((key) => wanted.get(key));
  const kept = new Set(before);
  const added = [...wanted].filter(([key]) => !kept.has(key)).map(([, endpoint]) => endpoint);
  for (const [index, slot] of slots.entries()) if (slot === undefined) slots[index] = added.shift();
  slots.push(...added);
  for (let index = 0; index < slots.length; index++) {
    while (slots.length > index && slots.at(-1) === undefined) slots.pop();
    if (index < slots.length && slots[index] === undefined) slots[index] = slots.pop();
  }
  return slots as Endpoint[];
}
