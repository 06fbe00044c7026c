import { VERSION } from '@podwright/base';
import { flagHelp, flagValues, type OwnFlag, parseCommandLine } from '@podwright/kubelet-configuration';
import { type ConfigFlags, flagName } from '../settings/config-flags.ts';
import { DOCKER_FLAGS, dockerLine, isForDocker } from './docker-flags.ts';
import { type KubeletFlags, runKubelet } from './kubelet.ts';
import { kubeletSettings } from './kubelet-settings.ts';

/** Flags of the kubelet that are no fields of a configuration, beside those of every command. */
const OWN_FLAGS: OwnFlag[] = [
  { name: 'config-dir', value: 'path', about: 'directory of drop-in files, *.conf, over the file of --config' },
  { name: 'version', about: 'the version' },
  ...DOCKER_FLAGS,
];

/** `podwright kubelet` with the words that commander's options have left over. */
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
  return runKubelet(settings, {
    ...kubeletFlags,
    isDocker,
    flags: { ...flagValues(line), ...Object.fromEntries(ours) },
  });
}

/** The flags, a line each, under their heading. */
export const kubeletFlagsHelp = () => `\nFlags, as upstream's kubelet has them:\n${flagHelp(OWN_FLAGS)}\n`;
