import { COMMIT, VERSION } from '@podwright/base';
import type { JsonObject } from '@podwright/kube-schema';

const MINOR = 36;

/** The Kubernetes version of the API that this server implements. */
export const GIT_VERSION = `v1.${MINOR}.0+podwright.${VERSION}`;

/** The `/version` response (apimachinery, version.Info). `architecture`: the CPU architecture, in Node.js notation. */
export const versionInfo = (architecture: string = process.arch): JsonObject => ({
  major: '1',
  minor: String(MINOR),
  emulationMajor: '1',
  emulationMinor: String(MINOR),
  minCompatibilityMajor: '1',
  minCompatibilityMinor: String(MINOR - 1),
  gitVersion: GIT_VERSION,
  gitCommit: COMMIT,
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `linux/${architecture === 'x64' ? 'amd64' : architecture}`,
});
