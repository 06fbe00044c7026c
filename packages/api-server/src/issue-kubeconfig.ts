import { join } from 'node:path';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import { kubeconfigText } from './certificates/kubeconfig.ts';

/** Returns the CA's directory, given the server's. */
export const authorityDirectory = (directory: string): string => join(directory, 'authority');

/** Returns a kubeconfig for a user, with a new certificate from the server's CA. The server does not need to be running. */
export async function issueKubeconfig(
  directory: string,
  { server, username, groups }: { server: string; username: string; groups: readonly string[] },
): Promise<string> {
  const authority = await CertificateAuthority.open(authorityDirectory(directory), Date.now);
  const pair = authority.client({ commonName: username, organizations: groups });
  return kubeconfigText({ server, caCertificate: authority.certificate, user: username, pair });
}
