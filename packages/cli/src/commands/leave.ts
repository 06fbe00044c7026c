import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';
import { print } from '../output/terminal-text.ts';
import { joinedFiles } from '../settings/cluster-files.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `podwright leave`: forgets the cluster that `podwright join` was told, with the certificates that it has signed. */
export async function leave({ settings }: CommandContext): Promise<void> {
  const { root, node_name: name } = await settings();
  const { kubeconfig, kubeletConfiguration } = joinedFiles(root);
  if (!existsSync(dirname(kubeconfig))) return print('This node has joined no cluster.');
  // first what makes the node one of the cluster: the rest may be left to another call
  await rm(kubeletConfiguration, { force: true });
  await removeCertificates(join(root, 'kubelet', 'pki'));
  await rm(dirname(kubeconfig), { recursive: true, force: true });
  print(
    `${name} stands alone when it is started anew: systemctl restart podwright\nThe cluster forgets it by kubectl delete node ${name}`,
  );
}

async function removeCertificates(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  });
  for (const name of names)
    if (/^kubelet-(client|server)[.-]/.test(name)) await rm(join(directory, name), { force: true });
}
