/**
 * Compares what NRI plugins receive from Podwright's runtime and from containerd: makes the same CRI calls to both while a plugin records
 * every message, and prints the differences: `-` is only in containerd's messages, `+` only in Podwright's.
 *
 * node tests/nri/compare/main.ts [SCENARIO…]
 *
 * PODWRIGHT_NRI_CONTAINERD is the path of a containerd binary, with the shim in the same directory. PODWRIGHT_NRI_PLUGINS is a directory of
 * plugins, such as `10-device-injector`, which both runtimes start. PODWRIGHT_NRI_KEEP, if set, is a directory in which to save the
 * recorded messages.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import { type Difference, fieldDifferences, mergeDifferences, type Observed, stepDifferences } from './differences.ts';
import { ScenarioRun } from './scenario-run.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Side, startOurs, startTheirs } from './sides.ts';

/** Maximum number of steps to print for a difference. */
const MAX_STEPS = 3;

const program = process.env.PODWRIGHT_NRI_CONTAINERD;
if (program === undefined) throw new Error('PODWRIGHT_NRI_CONTAINERD does not name a containerd');
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => SCENARIOS[name] === undefined);
if (unknown !== undefined) throw new Error(`no scenario ${unknown}; they are ${Object.keys(SCENARIOS).join(', ')}`);

const names = wanted.length === 0 ? Object.keys(SCENARIOS) : wanted;
const plugins = { pluginPath: process.env.PODWRIGHT_NRI_PLUGINS ?? '', pluginConfigPath: '' };
const theirs = await observeAll('theirs', await startTheirs(program, plugins));
const ours = await observeAll('ours', await startOurs(plugins));
const fields: Difference[] = [];
for (const name of names) {
  const [left, right] = [theirs.get(name)!, ours.get(name)!];
  const steps = stepDifferences(left, right);
  if (steps.length > 0) console.log(`## The steps of ${name} differ\n${steps.join('\n')}\n`);
  fields.push(...fieldDifferences(name, left, right));
}
console.log('## Fields that differ');
for (const { side, line, steps } of mergeDifferences(fields)) {
  const more = steps.length > MAX_STEPS ? `, and ${steps.length - MAX_STEPS} more` : '';
  console.log(`${side} ${line}    (${steps.slice(0, MAX_STEPS).join(', ')}${more})`);
}

/** Runs the selected scenarios on one runtime, then stops it. Returns what was recorded in each. */
async function observeAll(kind: string, side: Side): Promise<Map<string, Observed>> {
  const all = new Map<string, Observed>();
  try {
    for (const name of names) {
      const run = new ScenarioRun(side);
      try {
        await SCENARIOS[name]!(run);
      } catch (error) {
        run.note(`the scenario fails: ${errorMessage(error)}`, {});
      } finally {
        run.close();
      }
      all.set(name, run.observed);
      keep(`${kind}.${name}`, run.observed);
      await removeAllPods(side);
    }
  } finally {
    await side.stop();
  }
  return all;
}

async function removeAllPods({ cri }: Side): Promise<void> {
  const { items } = await cri.runtime.listPodSandbox({});
  for (const { id: podSandboxId } of items) {
    await cri.runtime.stopPodSandbox({ podSandboxId });
    await cri.runtime.removePodSandbox({ podSandboxId });
  }
}

/** Saves the recorded messages of a scenario in PODWRIGHT_NRI_KEEP, if set. */
function keep(name: string, { steps }: Observed): void {
  const directory = process.env.PODWRIGHT_NRI_KEEP;
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${name}.json`), JSON.stringify(steps, undefined, 1));
}
