/**
 * Go structs whose JSON fields belong to an embedded struct. Go's decoding errors name the embedded struct, as in
 * `spec.volumes.VolumeSource.emptyDir`, although JSON does not contain it.
 */
type Embedded = { name: string; except: readonly string[] };

const REFERENCE = 'LocalObjectReference';
const DEVICE_CONFIGURATION = 'DeviceConfiguration';
const SELECTOR: Embedded = { name: REFERENCE, except: ['key', 'optional'] };
const SOURCE: Embedded = { name: REFERENCE, except: ['items', 'defaultMode', 'optional'] };

const EMBEDDED: Readonly<Record<string, Embedded>> = {
  Volume: { name: 'VolumeSource', except: ['name'] },
  Probe: {
    name: 'ProbeHandler',
    except: [
      ...['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'],
      'terminationGracePeriodSeconds',
    ],
  },
  EphemeralContainer: { name: 'EphemeralContainerCommon', except: ['targetContainerName'] },
  PersistentVolumeSpec: {
    name: 'PersistentVolumeSource',
    except: [
      ...['capacity', 'accessModes', 'claimRef', 'persistentVolumeReclaimPolicy', 'storageClassName', 'mountOptions'],
      ...['volumeMode', 'nodeAffinity', 'volumeAttributesClassName'],
    ],
  },
  IngressRule: { name: 'IngressRuleValue', except: ['host'] },
  DeviceClassConfiguration: { name: DEVICE_CONFIGURATION, except: [] },
  DeviceClaimConfiguration: { name: DEVICE_CONFIGURATION, except: ['requests'] },
  DeviceAllocationConfiguration: { name: DEVICE_CONFIGURATION, except: ['source', 'requests'] },
  RuleWithOperations: { name: 'Rule', except: ['operations'] },
  ConfigMapVolumeSource: SOURCE,
  ConfigMapProjection: SOURCE,
  SecretProjection: SOURCE,
  ConfigMapEnvSource: SELECTOR,
  SecretEnvSource: SELECTOR,
  ConfigMapKeySelector: SELECTOR,
  SecretKeySelector: SELECTOR,
};

/** Returns a field's name in Go's errors, with the embedded struct that contains it. */
export function withEmbedded(struct: string, field: string): string {
  const embedded = Object.hasOwn(EMBEDDED, struct) ? EMBEDDED[struct] : undefined;
  return embedded === undefined || embedded.except.includes(field) ? field : `${embedded.name}.${field}`;
}
