import { resolve } from 'node:path';
import { BUILD, errorMessage, isRecord, PodwrightError, VERSION, withTimeout } from '@podwright/base';
import { requireFormat, runProgram } from '@podwright/host';
import {
  findArchive,
  findInstallation,
  ProgramSwap,
  RESTART_ADVICE,
  type ReleaseArchive,
  unpackProgram,
  verifyArchive,
} from '@podwright/upgrade';
import { NodeClient } from '../client/node-client.ts';
import { versionSkew } from '../client/version-skew.ts';
import { restartNode, startAgain } from '../daemon/restart-node.ts';
import { findNode, type RunningNode } from '../daemon/running-node.ts';
import { PROGRAM_TRIAL_TIMEOUT_MS } from '../limits.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `podwright upgrade`: replaces the program if `source` names a release, and restarts the node with it. Returns the exit code. */
export async function upgrade({ config }: CommandContext, source: string | undefined): Promise<number> {
  const node = await findNode(new NodeClient(config.apiSocket));
  if (source === undefined) return await intoThisProgram(config, node);
  if (/\.(?:deb|rpm)$/.test(source))
    throw refusal(`${source} is a package: install it with 'apt install' or 'dnf install', ${RESTART_ADVICE}`);
  const { path, advice } = await findInstallation();
  if (advice !== undefined) throw new PodwrightError('failed_precondition', `upgrade ${path}: ${advice}`);
  const archive = findArchive(resolve(source));
  await verifyArchive(archive);
  print(`verified ${archive.path}`);
  using swap = new ProgramSwap(path);
  await unpackProgram(archive, swap.staged);
  await tryProgram(swap.staged, archive, config.root);
  print(`podwright ${archive.version} runs on this host`);
  await swap.replace();
  print(`replaced ${path}: podwright ${archive.version} instead of ${VERSION}`);
  if (node === undefined) return reportNoNode();
  try {
    const found = await restart(config, node);
    if (found === archive.version) return 0;
    printError(`podwright: the node still runs podwright ${found}: its command is ${commandOf(node)}`);
    return 1;
  } catch (error) {
    print(`the node of podwright ${archive.version} does not start: ${errorMessage(error)}`);
    await swap.restore();
    print(`put podwright ${VERSION} back in ${path}`);
    await startAgain(config, node);
    print(`started the node of podwright ${VERSION} again; its containers kept running`);
    return 1;
  }
}

/**
 * Restarts the node with this program if the node runs a different build, because something other than `upgrade` has installed this
 * program.
 */
async function intoThisProgram(config: CommandContext['config'], node: RunningNode | undefined): Promise<number> {
  if (node === undefined) return reportNoNode();
  if (node.info.version === VERSION && node.info.build === BUILD) {
    print(`the node already runs podwright ${VERSION}`);
    return 0;
  }
  await restart(config, node);
  const skew = versionSkew(await new NodeClient(config.apiSocket).node());
  if (skew === undefined) return 0;
  throw new PodwrightError(
    'failed_precondition',
    `${skew}; its command is still of the other version: ${commandOf(node)}`,
  );
}

const commandOf = ({ command: { file, args } }: RunningNode) => [file, ...args].join(' ');

/** Restarts the node and returns its new version. */
async function restart(config: CommandContext['config'], node: RunningNode): Promise<string> {
  print(`restarting the node (podwright ${node.info.version}, ${node.unit ?? `process ${node.info.pid}`})`);
  await restartNode(config, node);
  const { version, pid } = await new NodeClient(config.apiSocket).node();
  print(`the node runs podwright ${version} (process ${pid}); its containers kept running`);
  return version;
}

function reportNoNode(): number {
  print('no node runs');
  return 0;
}

/** Runs the new program to check that its version matches its archive and that it can read the node's record formats. */
async function tryProgram(program: string, { path, version }: ReleaseArchive, root: string): Promise<void> {
  using signal = withTimeout(undefined, PROGRAM_TRIAL_TIMEOUT_MS, `run the program of ${path}`);
  const args = ['--state', '/nonexistent', 'version', '-o', 'json', '--trial'];
  const { exitCode, stdout, stderr } = await runProgram(program, args, { signal });
  if (exitCode !== 0)
    throw refusal(`the program of ${path} does not run on this host: ${stderr.trim() || `exit code ${exitCode}`}`);
  const reported: unknown = JSON.parse(stdout);
  const found = isRecord(reported) ? reported : {};
  if (found.client !== version) throw refusal(`the program of ${path} has version ${found.client}`);
  const formats = isRecord(found.recordFormats) ? found.recordFormats : {};
  for (const name of ['runtime', 'kubelet'])
    requireFormat(`${root}/${name}`, typeof formats[name] === 'number' ? formats[name] : 1, version);
}

const refusal = (message: string) => new PodwrightError('invalid_argument', message);
