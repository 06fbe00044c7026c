import { join } from 'node:path';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import { kubeconfigText } from './certificates/kubeconfig.ts';

/** The directory of the authority below that of the server. */
export const authorityDirectory = (directory: string): string => join(directory, 'authority');

/** A kubeconfig of a user with a new certificate of the server's authority, without the running server. */
export async function issueKubeconfig(
  directory: string,
  { server, username, groups }: { server: string; username: string; groups: readonly string[] },
): Promise<string> {
  const authority = await CertificateAuthority.open(authorityDirectory(directory), Date.now);
  const pair = authority.client({ commonName: username, organizations: groups });
  return kubeconfigText({ server, caCertificate: authority.certificate, user: username, pair });
}
