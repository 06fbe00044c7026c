import { VERSION } from '@podwright/base';
import { flagHelp, flagValues, type OwnFlag, parseCommandLine } from '@podwright/kubelet-configuration';
import { type ConfigFlags, flagName } from '../settings/config-flags.ts';
import { DOCKER_FLAGS, dockerLine, isForDocker } from './docker-flags.ts';
import { executeAgain } from './execute-again.ts';
import { type KubeletFlags, runKubelet } from './kubelet.ts';
import { kubeletSettings } from './kubelet-settings.ts';

/** kubelet flags that do not set a KubeletConfiguration field, excluding the flags that every command has. */
const OWN_FLAGS: OwnFlag[] = [
  {
    name: 'config-dir',
    value: 'path',
    about: 'directory of drop-in files, *.conf, which override the file of --config',
  },
  { name: 'version', about: 'the version' },
  ...DOCKER_FLAGS,
];

/** `podwright kubelet`. `args` are the words not parsed by commander: the kubelet flags. */
export async function kubeletCommand(
  flags: ConfigFlags,
  kubeletFlags: Pick<KubeletFlags, 'criApiVersion'>,
  args: string[],
): Promise<void> {
  const line = parseCommandLine(args, OWN_FLAGS);
  const { given, own } = line;
  if (own.has('version')) return console.log(VERSION);
  const docker = dockerLine(line);
  const all = { ...flags, ...docker.settings };
  const settings = await kubeletSettings({ flags: all, given, dropIns: own.get('config-dir') });
  const isDocker = isForDocker(docker, settings.config.container_runtime);
  const ours = Object.entries(flags).map(([name, value]) => [flagName(name).slice(2), value] as const);
  const { restart } = await runKubelet(settings, {
    ...kubeletFlags,
    isDocker,
    flags: { ...flagValues(line), ...Object.fromEntries(ours) },
  });
  if (restart) executeAgain(process.cwd());
}

/** Help text for the kubelet flags, with a heading. */
export const kubeletFlagsHelp = () => `\nFlags of upstream's kubelet:\n${flagHelp(OWN_FLAGS)}\n`;
