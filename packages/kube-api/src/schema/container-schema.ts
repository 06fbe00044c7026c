import type { ContainerClaim } from '../objects/resource-claim.ts';
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  ContainerRestartRule,
  EnvFromSource,
  EnvSourceReference,
  EnvVar,
  EnvVarSource,
  EphemeralContainer,
  FileKeySelector,
  KeySelector,
  ResourceRequirements,
  VolumeDevice,
  VolumeMount,
} from '../objects/types.ts';
import {
  boolean,
  type Decoder,
  type Fields,
  integer,
  list,
  mapOf,
  object,
  oneOf,
  quantity,
  string,
} from './decoder.ts';
import { lifecycle, probe } from './probe-schema.ts';
import { securityContext } from './security-schema.ts';
import { fieldRef, resourceFieldRef } from './volume-schema.ts';

const port = object<ContainerPort>(
  {
    name: string,
    containerPort: integer(),
    hostPort: integer(),
    hostIP: string,
    protocol: oneOf('TCP', 'UDP', 'SCTP'),
  },
  { required: ['containerPort'] },
);

const keySelector = object<KeySelector>(
  { name: string, key: string, optional: boolean },
  { required: ['name', 'key'] },
);

const fileKeyRef = object<FileKeySelector>(
  { volumeName: string, path: string, key: string, optional: boolean },
  { required: ['volumeName', 'path', 'key'] },
);

const valueFrom = object<EnvVarSource>({
  fieldRef,
  resourceFieldRef,
  configMapKeyRef: keySelector,
  secretKeyRef: keySelector,
  fileKeyRef,
});

const envVar = object<EnvVar>({ name: string, value: string, valueFrom }, { required: ['name'] });

const envSource = object<EnvSourceReference>({ name: string, optional: boolean }, { required: ['name'] });

const envFrom = object<EnvFromSource>({ prefix: string, configMapRef: envSource, secretRef: envSource });

export const resourceList = mapOf(quantity);

export const resources = object<ResourceRequirements>(
  {
    limits: resourceList,
    requests: resourceList,
    claims: list(object<ContainerClaim>({ name: string, request: string }, { required: ['name'] })),
  },
  { needApi: { claims: 'needs an API server, which manages claims; use limits with a device plugin, or hostPath' } },
);

const volumeMount = object<VolumeMount>(
  {
    name: string,
    mountPath: string,
    readOnly: boolean,
    recursiveReadOnly: oneOf('Disabled', 'IfPossible', 'Enabled'),
    subPath: string,
    subPathExpr: string,
    mountPropagation: oneOf('None', 'HostToContainer', 'Bidirectional'),
  },
  { required: ['name', 'mountPath'] },
);

const volumeDevice = object<VolumeDevice>({ name: string, devicePath: string }, { required: ['name', 'devicePath'] });

const restartRule = object<ContainerRestartRule>(
  {
    action: oneOf('Restart', 'RestartAllContainers'),
    exitCodes: object<ContainerRestartRule['exitCodes']>(
      { operator: oneOf('In', 'NotIn'), values: list(integer()) },
      { required: ['operator'] },
    ),
  },
  { required: ['action', 'exitCodes'] },
);

const resizePolicy = object<ContainerResizePolicy>(
  { resourceName: oneOf('cpu', 'memory'), restartPolicy: oneOf('NotRequired', 'RestartContainer') },
  { required: ['resourceName', 'restartPolicy'] },
);

const CONTAINER: Fields<Container> = {
  name: string,
  image: string,
  imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
  command: list(string),
  args: list(string),
  workingDir: string,
  ports: list(port),
  env: list(envVar),
  envFrom: list(envFrom),
  resources,
  resizePolicy: list(resizePolicy),
  restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
  restartPolicyRules: list(restartRule),
  volumeMounts: list(volumeMount),
  volumeDevices: list(volumeDevice),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle,
  terminationMessagePath: string,
  terminationMessagePolicy: oneOf('File', 'FallbackToLogsOnError'),
  securityContext,
  stdin: boolean,
  stdinOnce: boolean,
  tty: boolean,
};
const NO_BLOCK_VOLUMES = {
  volumeDevices:
    'needs a volume with volumeMode: Block, which a standalone node does not have; mount the device with a hostPath volume of type BlockDevice, in a privileged container',
};
const RULES = { required: ['name', 'image'], needApi: NO_BLOCK_VOLUMES } as const;

export const container: Decoder<Container> = object<Container>(CONTAINER, RULES);

export const ephemeralContainer: Decoder<EphemeralContainer> = object<EphemeralContainer>(
  { ...CONTAINER, targetContainerName: string },
  RULES,
);
