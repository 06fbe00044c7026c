import type {
  Container,
  ContainerPort,
  EnvFromSource,
  EnvSourceReference,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  KeySelector,
  ResourceRequirements,
  VolumeMount,
} from '../types.ts';
import { boolean, type Decoder, integer, list, mapOf, object, oneOf, quantity, string } from './decoder.ts';
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

const resources = object<ResourceRequirements>(
  { limits: resourceList, requests: resourceList },
  { notYet: ['claims'] },
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

export const container: Decoder<Container> = object<Container>(
  {
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
    restartPolicy: oneOf('Always'),
    volumeMounts: list(volumeMount),
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
  },
  { required: ['name', 'image'], notYet: ['volumeDevices', 'resizePolicy', 'restartPolicyRules'] },
);
