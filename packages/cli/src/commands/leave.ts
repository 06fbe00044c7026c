import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '@podwright/base';
import { print } from '../output/terminal-text.ts';
import { joinedFiles } from '../settings/cluster-files.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `podwright leave`: deletes the files written by `podwright join` and the certificates issued by the cluster. */
export async function leave({ settings }: CommandContext): Promise<void> {
  const { root, node_name: name } = await settings();
  const { kubeconfig, kubeletConfiguration } = joinedFiles(root);
  if (!existsSync(dirname(kubeconfig))) return print('This node has not joined a cluster.');
  // delete the file that makes the node join first: if this command is interrupted, running it again deletes the rest
  await rm(kubeletConfiguration, { force: true });
  await removeCertificates(join(root, 'kubelet', 'pki'));
  await rm(dirname(kubeconfig), { recursive: true, force: true });
  print(
    `Restart ${name} to run it without the cluster: systemctl restart podwright\nTo remove it from the cluster: kubectl delete node ${name}`,
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
