/**
 * `node tests/nri/compare/main.ts [SCENARIO…]`: does the same with our runtime and with the containerd that PODWRIGHT_NRI_CONTAINERD names
 * (its shim must be in the same directory), while a plugin on each records every message, and prints how they differ: `-` is what containerd alone has,
 * `+` what ours alone has. Both start the programs in PODWRIGHT_NRI_PLUGINS, named as `10-device-injector`, for the scenario `programs`. PODWRIGHT_NRI_KEEP names a directory for everything that was recorded.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import { type Difference, fieldDifferences, mergeDifferences, type Observed, stepDifferences } from './differences.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Side, startOurs, startTheirs } from './sides.ts';
import { World } from './world.ts';

/** Most steps that the printed line of a difference names. */
const MOST_STEPS = 3;

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
  const more = steps.length > MOST_STEPS ? `, and ${steps.length - MOST_STEPS} more` : '';
  console.log(`${side} ${line}    (${steps.slice(0, MOST_STEPS).join(', ')}${more})`);
}

async function observeAll(kind: string, side: Side): Promise<Map<string, Observed>> {
  const all = new Map<string, Observed>();
  try {
    for (const name of names) {
      const world = new World(side);
      try {
        await SCENARIOS[name]!(world);
      } catch (error) {
        world.note(`the scenario fails: ${errorMessage(error)}`, {});
      } finally {
        world.close();
      }
      all.set(name, world.observed);
      keep(`${kind}.${name}`, world.observed);
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

function keep(name: string, { steps }: Observed): void {
  const directory = process.env.PODWRIGHT_NRI_KEEP;
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${name}.json`), JSON.stringify(steps, undefined, 1));
}
