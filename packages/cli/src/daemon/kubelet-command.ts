import { VERSION } from '@podwright/base';
import { flagHelp, type OwnFlag, parseCommandLine } from '@podwright/kubelet';
import type { ConfigFlags } from '../settings/config-flags.ts';
import { type KubeletFlags, runKubelet } from './kubelet.ts';
import { kubeletSettings } from './kubelet-settings.ts';

/** Flags of the kubelet that are no fields of a configuration, beside those of every command. */
const OWN_FLAGS: OwnFlag[] = [
  { name: 'config-dir', value: 'path', about: 'directory of drop-in files, *.conf, over the file of --config' },
  { name: 'version', about: 'the version' },
];

/** `podwright kubelet` with the words that commander's options have left over. */
export async function kubeletCommand(flags: ConfigFlags, kubeletFlags: KubeletFlags, args: string[]): Promise<void> {
  const { given, own } = parseCommandLine(args, OWN_FLAGS);
  if (own.has('version')) return console.log(VERSION);
  const settings = await kubeletSettings({ flags, given, dropIns: own.get('config-dir') });
  return runKubelet(settings, kubeletFlags);
}

/** The flags, a line each, under their heading. */
export const kubeletFlagsHelp = () => `\nFlags, as upstream's kubelet has them:\n${flagHelp(OWN_FLAGS)}\n`;
