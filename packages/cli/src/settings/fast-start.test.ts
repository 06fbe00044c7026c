import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { usesFastStart } from './fast-start.ts';
import { loadConfig } from './node-config.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-fast-start-'));
after(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'config.toml');

const files: [string, boolean][] = [
  ['', true],
  ['fast_paths = true', true],
  ['root = "/x"\nfast_paths = false # for now', false],
  ['  fast_paths=false\n[runtime]\noci_runtime = "runc"', false],
  ['# fast_paths = false', true],
  ['[runtime.plugins.one]\npackage = "x"\n[runtime.plugins.one.settings]\nfast_paths = false', true],
];
for (const [text, expected] of files)
  test(`the start of a command reads this file as the settings do: ${JSON.stringify(text)}`, () => {
    writeFileSync(file, text);
    for (const args of [
      ['--config', file, 'ps'],
      [`--config=${file}`, 'ps'],
      ['ps', '--config', file],
    ])
      assert.equal(usesFastStart(args, '/nonexistent'), expected, args.join(' '));
    assert.equal(usesFastStart(['ps'], file), expected);
    assert.equal(loadConfig({ config: file }).fast_paths, expected);
  });

test('the flag overrides the file, and words of a container’s command are not flags', () => {
  writeFileSync(file, 'fast_paths = false');
  const check = (args: string[], expected: boolean, defaultFile = file) =>
    assert.equal(usesFastStart(args, defaultFile), expected, args.join(' '));
  check(['--fast-paths', 'true', 'ps'], true);
  check(['--fast-paths=true', 'ps'], true);
  check(['--fast-paths', 'false', 'ps'], false, '/nonexistent');
  check(['--fast-paths=false', 'ps'], false, '/nonexistent');
  check(['exec', 'pod', '--', 'program', '--fast-paths', 'false'], true, '/nonexistent');
  check(['--fast-paths'], false); // the missing value is reported later
});
