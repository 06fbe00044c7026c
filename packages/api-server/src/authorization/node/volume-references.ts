import { type ApiObject, textAt, valueAt } from '@podwright/kube-kinds';

/** The claim a PersistentVolume is bound to, and the Secrets that nodes need to mount the volume, all as `NAMESPACE/NAME`. */
export type VolumeReferences = { claim: string; secrets: readonly string[] };

/**
 * Volume sources with a `secretRef` field. A reference without a namespace uses the claim's namespace for the sources in
 * `IN_CLAIM_NAMESPACE`, and has no default for those in `IN_OWN_NAMESPACE`.
 */
const IN_CLAIM_NAMESPACE = ['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'];
const IN_OWN_NAMESPACE = ['cinder', 'storageos'];
/** Secrets for a CSI driver's node service. Nodes cannot access those of the controller service. */
const CSI_NODE_SECRETS = ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'];

/** Returns a PersistentVolume's references, or `undefined` if it has no claim, in which case no pod can use it. */
export function referencesOfVolume({ spec }: ApiObject): VolumeReferences | undefined {
  if (valueAt(spec, 'claimRef') === undefined) return undefined;
  const claimNamespace = textAt(spec, 'claimRef', 'namespace');
  const secretAt = (path: readonly string[], namespace = claimNamespace): string => {
    const name = textAt(spec, ...path, 'name');
    return name === '' ? '' : `${textAt(spec, ...path, 'namespace') || namespace}/${name}`;
  };
  const secrets = [
    azureSecret(spec, claimNamespace),
    ...IN_CLAIM_NAMESPACE.map((source) => secretAt([source, 'secretRef'])),
    ...IN_OWN_NAMESPACE.map((source) => secretAt([source, 'secretRef'], '')),
    ...CSI_NODE_SECRETS.map((field) => secretAt(['csi', field], '')),
  ];
  return {
    claim: `${claimNamespace}/${textAt(spec, 'claimRef', 'name')}`,
    secrets: secrets.filter((one) => one !== ''),
  };
}

function azureSecret(spec: unknown, claimNamespace: string): string {
  const name = textAt(spec, 'azureFile', 'secretName');
  return name === '' ? '' : `${textAt(spec, 'azureFile', 'secretNamespace') || claimNamespace}/${name}`;
}
