import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import * as shape from './shape.ts';

test("the first problem has zod's message", () => {
  const ours = shape.object({
    text: shape.string(),
    count: shape.int(),
    pid: shape.positiveInt(),
    share: shape.number(),
    on: shape.boolean().optional(),
    kind: shape.oneOf(['A', 'B']),
    list: shape.array(shape.object({ name: shape.string() })),
  });
  const theirs = z.looseObject({
    text: z.string(),
    count: z.int(),
    pid: z.int().positive(),
    share: z.number(),
    on: z.boolean().optional(),
    kind: z.enum(['A', 'B']),
    list: z.array(z.looseObject({ name: z.string() })),
  });
  const right = {
    text: 't',
    count: -1,
    pid: 1,
    share: 0.5,
    on: true,
    kind: 'A',
    list: [{ name: 'n', more: 1 }],
    more: 1,
  };
  const values = [undefined, null, true, 0, 0.5, -1, 'text', [], [{}], [{ name: 'a' }, { name: 1 }, 'x'], {}];
  const samples = [
    ...values,
    right,
    ...Object.keys(right).flatMap((key) => values.map((value) => ({ ...right, [key]: value }))),
  ];
  let refused = 0;
  for (const sample of samples) {
    const issue = theirs.safeParse(sample).error?.issues[0];
    const expected = issue && { path: issue.path, message: issue.message };
    assert.deepEqual(ours.problem(sample), expected, JSON.stringify(sample));
    if (expected !== undefined) refused++;
  }
  assert.ok(refused > 50 && refused < samples.length);
});
