import { type ApiObject, textAt, valueAt } from '@podwright/kube-kinds';

/** The claim that a PersistentVolume is bound to, and the Secrets that a node needs to mount it: `NAMESPACE/NAME`. */
export type VolumeReferences = { claim: string; secrets: readonly string[] };

/** Sources with a field `secretRef`. Without a namespace, the Secret is in the claim's namespace, or for the last two in none. */
const IN_CLAIM_NAMESPACE = ['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'];
const IN_OWN_NAMESPACE = ['cinder', 'storageos'];
/** Secrets of a CSI driver's node calls. Those of its controller calls are none of the node's. */
const CSI_NODE_SECRETS = ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'];

/** The references of a volume; undefined for a volume without a claim, which no pod uses. */
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
