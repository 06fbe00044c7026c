import type { IssueList } from '../issue.ts';
import type {
  CsiVolumeSource,
  DownwardApiFile,
  EmptyDirVolumeSource,
  HostPathVolumeSource,
  KeyToPath,
  NfsVolumeSource,
  Volume,
  VolumeProjection,
} from '../objects/types.ts';
import { compareQuantities, isQuantity } from '../values/quantity.ts';
import { validateFieldRef, validateResourceRef } from './field-refs.ts';
import { configKey, dnsLabel, dnsSubdomain, imageName, pathLength, volumeFilePath } from './names.ts';
import { check, each, exactlyOne, unique } from './rules.ts';

const MAX_FILE_MODE = 0o777;
const MAX_DRIVER_NAME = 63;
const SOURCE_NAMES = [
  'emptyDir',
  'hostPath',
  'configMap',
  'secret',
  'downwardAPI',
  'projected',
  'image',
  'nfs',
  'persistentVolumeClaim',
  'csi',
  'ephemeral',
] as const;

/** Validates a pod's volumes. */
export function validateVolumes(volumes: readonly Volume[], issues: IssueList): void {
  unique(volumes, (volume) => volume.name, { issues, field: 'name', what: 'volume' });
  each(volumes, issues, validateVolume);
}

function validateVolume(volume: Volume, issues: IssueList): void {
  dnsLabel(volume.name, issues.at('name'));
  exactlyOne(volume, SOURCE_NAMES, issues);
  const { emptyDir, hostPath, configMap, secret, downwardAPI, projected, image, nfs, persistentVolumeClaim, csi } =
    volume;
  if (image) imageName(image.reference, issues.at('image', 'reference'));
  if (csi) validateCsi(csi, issues.at('csi'));
  if (nfs) validateNfs(nfs, issues.at('nfs'));
  if (persistentVolumeClaim)
    dnsSubdomain(persistentVolumeClaim.claimName, issues.at('persistentVolumeClaim', 'claimName'));
  if (emptyDir) validateEmptyDir(emptyDir, issues.at('emptyDir'));
  if (hostPath) validateHostPath(hostPath, issues.at('hostPath'));
  if (configMap) validateReference(configMap, issues.at('configMap'));
  if (secret) validateReference(secret, issues.at('secret'));
  if (downwardAPI) {
    validateMode(downwardAPI.defaultMode, issues.at('downwardAPI', 'defaultMode'));
    each(downwardAPI.items, issues.at('downwardAPI', 'items'), validateDownwardFile);
    unique(downwardAPI.items ?? [], (item) => item.path, {
      issues: issues.at('downwardAPI', 'items'),
      field: 'path',
      what: 'path',
    });
  }
  if (projected) {
    validateMode(projected.defaultMode, issues.at('projected', 'defaultMode'));
    each(projected.sources, issues.at('projected', 'sources'), validateProjection);
    validateProjectedPaths(projected.sources ?? [], issues.at('projected', 'sources'));
  }
}

function validateEmptyDir(source: EmptyDirVolumeSource, issues: IssueList): void {
  const medium = source.medium ?? '';
  const pages = /^HugePages-(.*)$/.exec(medium)?.[1];
  if (pages === undefined ? !['', 'Memory', 'HugePages'].includes(medium) : !isQuantity(pages))
    issues.at('medium').add(`must be Memory, HugePages, HugePages-2Mi or the like, or absent, got "${medium}"`);
  if (source.sizeLimit !== undefined && compareQuantities(source.sizeLimit, '0') < 0) {
    issues.at('sizeLimit').add(`must not be negative, got ${source.sizeLimit}`);
  }
}

function validateHostPath(source: HostPathVolumeSource, issues: IssueList): void {
  const place = issues.at('path');
  pathLength(source.path, place);
  if (!source.path.startsWith('/')) place.add(`must be an absolute path, got "${source.path}"`);
  else if (source.path.split('/').includes('..')) place.add(`must not contain "..", got "${source.path}"`);
}

function validateNfs({ server, path }: NfsVolumeSource, issues: IssueList): void {
  // mount(8) receives `server:path` as one argument, so the server must not begin with `-` or contain a slash, comma or white space
  if (!/^[^\s/,-][^\s/,]*$/.test(server))
    issues.at('server').add(`must be the name or address of a host, got "${server}"`);
  if (!path.startsWith('/')) issues.at('path').add(`must be an absolute path, got "${path}"`);
}

/** Validates a CSI volume. The driver name becomes a directory name (upstream's ValidateCSIDriverName). */
function validateCsi({ driver, nodePublishSecretRef }: CsiVolumeSource, issues: IssueList): void {
  if (driver.length > MAX_DRIVER_NAME || !/^[a-z\d]([-a-z\d]*[a-z\d])?(\.[a-z\d]([-a-z\d]*[a-z\d])?)*$/i.test(driver))
    issues
      .at('driver')
      .add(
        `must be a name of at most ${MAX_DRIVER_NAME} letters, digits, - and ., such as csi.example.com, got "${driver}"`,
      );
  if (nodePublishSecretRef) check(dnsSubdomain, nodePublishSecretRef.name, issues.at('nodePublishSecretRef', 'name'));
}

type ReferenceSource = { name?: string; secretName?: string; items?: KeyToPath[]; defaultMode?: number };

/** Validates a ConfigMap or Secret used as a volume or in a projected volume. */
function validateReference(source: ReferenceSource, issues: IssueList): void {
  check(dnsSubdomain, source.name, issues.at('name'));
  check(dnsSubdomain, source.secretName, issues.at('secretName'));
  validateMode(source.defaultMode, issues.at('defaultMode'));
  each(source.items, issues.at('items'), (item, place) => {
    configKey(item.key, place.at('key'));
    volumeFilePath(item.path, place.at('path'));
    validateMode(item.mode, place.at('mode'));
  });
}

function validateDownwardFile(item: DownwardApiFile, issues: IssueList): void {
  volumeFilePath(item.path, issues.at('path'));
  validateMode(item.mode, issues.at('mode'));
  exactlyOne(item, ['fieldRef', 'resourceFieldRef'], issues);
  if (item.fieldRef) validateFieldRef(item.fieldRef, 'volume', issues.at('fieldRef'));
  if (item.resourceFieldRef) validateResourceRef(item.resourceFieldRef, 'volume', issues.at('resourceFieldRef'));
}

/** Sources of projected volumes supported only by nodes that serve the Kubernetes API. They are validated by the API server. */
const OF_SERVER = ['serviceAccountToken', 'clusterTrustBundle', 'podCertificate'];

function validateProjection(source: VolumeProjection, issues: IssueList): void {
  const ofServer = OF_SERVER.filter((name) => Object.hasOwn(source, name)) as 'serviceAccountToken'[];
  exactlyOne(source, ['configMap', 'secret', 'downwardAPI', ...ofServer], issues);
  if (source.configMap) validateReference(source.configMap, issues.at('configMap'));
  if (source.secret) validateReference(source.secret, issues.at('secret'));
  each(source.downwardAPI?.items, issues.at('downwardAPI', 'items'), validateDownwardFile);
}

/** Rejects a path used by two sources. The paths of sources without `items` are unknown until the volume is mounted. */
function validateProjectedPaths(sources: VolumeProjection[], issues: IssueList): void {
  const seen = new Set<string>();
  for (const [index, source] of sources.entries()) {
    for (const field of ['configMap', 'secret', 'downwardAPI'] as const) {
      for (const [position, { path }] of (source[field]?.items ?? []).entries()) {
        if (seen.has(path)) issues.at(index, field, 'items', position, 'path').add(`path "${path}" is used twice`);
        seen.add(path);
      }
    }
  }
}

function validateMode(mode: number | undefined, issues: IssueList): void {
  if (mode === undefined || (mode >= 0 && mode <= MAX_FILE_MODE)) return;
  issues.add(`must be a file mode between 0 and 0777 (octal), got ${mode} (octal ${mode.toString(8)})`);
}
