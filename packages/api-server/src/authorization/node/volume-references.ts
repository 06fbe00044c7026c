import { type ApiObject, textAt, valueAt } from '@podwright/kube-kinds';

/**
 * The claim that a PersistentVolume is bound to, and the Secrets that a node needs to mount the volume. All are in the form
 * `NAMESPACE/NAME`.
 */
export type VolumeReferences = { claim: string; secrets: readonly string[] };

/**
 * Volume sources that have a `secretRef` field. If the reference has no namespace, the sources in the first list use the claim's namespace,
 * and those in the second list use none.
 */
const IN_CLAIM_NAMESPACE = ['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'];
const IN_OWN_NAMESPACE = ['cinder', 'storageos'];
/** Secrets for a CSI driver's node service. A node has no access to the Secrets for the controller service. */
const CSI_NODE_SECRETS = ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'];

/** Returns the references of a PersistentVolume, or `undefined` if it has no claim, so that no pod can use it. */
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
