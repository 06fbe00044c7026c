/** The API report, tested with made-up declarations. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { apiReport } from '../../scripts/packages/api-report.ts';

const INDEX = `/// <reference types="node" />
/** A comment. */
export { type A, make as create } from './a.js';
export * from './gen/messages_pb.js';
export { toBinary } from '@bufbuild/protobuf';
export declare const LIMIT = 5;
`;
const A = `import type { Hidden as H } from './hidden.js';
/** A comment. */
export type A = {
    /** Of a field. */
    field: H;
};
export declare function make(): A;
export declare function make(count: number): A[];
export declare function unexported(): void;
type Unused = string;
`;
const HIDDEN = `export interface Hidden {
    value: Local;
}
type Local = 1 | 2;
`;

/** Returns the report for a package that consists of these files. */
function reportOf(t: TestContext, files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-api-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const exports = { '.': { types: './dist/index.d.ts' }, './package.json': './package.json' };
  for (const [name, text] of Object.entries({ 'package.json': JSON.stringify({ name: '@x/y', exports }), ...files })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return apiReport(directory);
}

const sources = { 'dist/index.d.ts': INDEX, 'dist/a.d.ts': A, 'dist/hidden.d.ts': HIDDEN };

test('a report contains exported declarations without comments, followed by the declarations they reference', (t) => {
  const [head, ...rest] = reportOf(t, sources).split('\n\n');
  assert.match(head!, /^The public names of @x\/y/);
  assert.deepEqual(
    rest.map((text) => text.trimEnd()),
    [
      '## @x/y',
      "export * from './gen/messages_pb.js';",
      'type A = {\n    field: H;\n};',
      'declare const LIMIT = 5;',
      'declare function make(): A;\ndeclare function make(count: number): A[];\nexport { make as create };',
      "export { toBinary } from '@bufbuild/protobuf';",
      '## Not exported, but part of the above',
      'interface Hidden {\n    value: Local;\n}',
      'type Local = 1 | 2;',
    ],
  );
});

test('changing a type referenced by an export changes the report, but changing a comment or an unused declaration does not', (t) => {
  const before = reportOf(t, sources);
  const changed = (file: keyof typeof sources, from: string, to: string) =>
    reportOf(t, { ...sources, [file]: sources[file].replace(from, to) }) !== before;
  assert.ok(changed('dist/hidden.d.ts', '1 | 2', '1 | 3'));
  assert.ok(changed('dist/index.d.ts', 'LIMIT', 'BOUND'));
  assert.ok(!changed('dist/a.d.ts', 'A comment', 'Another comment'));
  assert.ok(!changed('dist/a.d.ts', 'Unused = string', 'Unused = number'));
});
