import { findCondition, type KubeObject } from '@podwright/kube-api';
import {
  AGE,
  type Column,
  type KindTables,
  kindTable,
  NAME,
  NONE,
  PLAIN_NAME,
  shortList,
  text,
  UNSET,
} from './column.ts';
import { compare } from './selector-text.ts';

type FlowSchema = KubeObject & {
  spec: {
    priorityLevelConfiguration?: { name: string };
    matchingPrecedence?: number;
    distinguisherMethod?: { type: string };
  };
  status?: { conditions?: { type: string; status: string }[] };
};

const precedenceOf = ({ spec }: FlowSchema): number => spec.matchingPrecedence ?? 0;

const FLOW_SCHEMA: Column<FlowSchema>[] = [
  NAME,
  text('PriorityLevel', 'Priority level of its requests', ({ spec }) => spec.priorityLevelConfiguration?.name ?? ''),
  text('MatchingPrecedence', 'The lowest that matches a request decides', precedenceOf),
  text(
    'DistinguisherMethod',
    'How its requests are divided into flows',
    ({ spec }) => spec.distinguisherMethod?.type ?? NONE,
  ),
  AGE,
  text(
    'MissingPL',
    'Whether the priority level is missing',
    ({ status }) => findCondition(status?.conditions, 'Dangling')?.status ?? '?',
  ),
];

type PriorityLevel = KubeObject & {
  spec: {
    type?: string;
    limited?: {
      nominalConcurrencyShares?: number;
      limitResponse?: { queuing?: { queues?: number; handSize?: number; queueLengthLimit?: number } };
    };
  };
};

const PRIORITY_LEVEL: Column<PriorityLevel>[] = [
  NAME,
  text('Type', 'Whether its requests are limited', ({ spec }) => spec.type ?? ''),
  text('NominalConcurrencyShares', 'Its share of concurrent requests', ({ spec: { limited } }) =>
    limited ? (limited.nominalConcurrencyShares ?? 0) : NONE,
  ),
  text('Queues', 'Number of queues', queuing('queues')),
  text('HandSize', 'Queues among which a flow is dealt', queuing('handSize')),
  text('QueueLengthLimit', 'Most requests in a queue', queuing('queueLengthLimit')),
  AGE,
];

function queuing(field: 'queues' | 'handSize' | 'queueLengthLimit'): Column<PriorityLevel>['cell'] {
  return ({ spec }) => {
    const settings = spec.limited?.limitResponse?.queuing;
    return settings ? (settings[field] ?? 0) : NONE;
  };
}

type StorageVersion = KubeObject & {
  status?: {
    commonEncodingVersion?: string;
    storageVersions?: { apiServerID: string; encodingVersion: string }[];
  };
};

const STORAGE_VERSION: Column<StorageVersion>[] = [
  NAME,
  text(
    'CommonEncodingVersion',
    'Version in which all servers store',
    ({ status }) => status?.commonEncodingVersion ?? UNSET,
  ),
  text('StorageVersions', 'Version in which each server stores', ({ status }) =>
    shortList((status?.storageVersions ?? []).map((one) => `${one.apiServerID}=${one.encodingVersion}`)),
  ),
  AGE,
];

type Migration = KubeObject & {
  spec?: { resource?: { group?: string; resource?: string } };
  status?: { conditions?: { type: string; status: string }[] };
};

const MIGRATION_STATES = ['Running', 'Failed', 'Succeeded'];

const MIGRATION: Column<Migration>[] = [
  PLAIN_NAME,
  text('Resource', 'Resource whose objects are migrated', ({ spec }) => {
    const { group, resource = '' } = spec?.resource ?? {};
    return group ? `${resource}.${group}` : resource;
  }),
  text('Status', 'State of the migration', ({ status }) => {
    const isState = (one: { type: string; status: string }) =>
      one.status === 'True' && MIGRATION_STATES.includes(one.type);
    return status?.conditions?.findLast(isState)?.type ?? 'Unknown';
  }),
];

type ApiService = KubeObject & {
  spec?: { service?: { namespace?: string; name?: string } };
  status?: { conditions?: { type: string; status: string; reason?: string }[] };
};

const API_SERVICE: Column<ApiService>[] = [
  NAME,
  text('Service', 'Service that serves the group version', ({ spec }) =>
    spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
  ),
  text('Available', 'Whether it is served, or why not', ({ status }) => {
    const available = findCondition(status?.conditions, 'Available');
    if (available === undefined) return 'Unknown';
    const { status: state, reason } = available;
    return state === 'True' || !reason ? state : `${state} (${reason})`;
  }),
  AGE,
];

type Status = KubeObject & { status?: string; reason?: string; message?: string };

const STATUS: Column<Status>[] = [
  text('Status', 'Success or Failure', ({ status }) => status ?? ''),
  text('Reason', 'Reason of a failure', ({ reason }) => reason ?? ''),
  text('Message', 'What has happened', ({ message }) => message ?? ''),
];

/** Tables for the API machinery kinds. CustomResourceDefinitions use the default columns. */
export const API_MACHINERY: KindTables = {
  Status: kindTable(STATUS),
  'FlowSchema.flowcontrol.apiserver.k8s.io': kindTable(FLOW_SCHEMA, {
    compare: (a, b) => precedenceOf(a) - precedenceOf(b) || compare(a.metadata.name ?? '', b.metadata.name ?? ''),
  }),
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': kindTable(PRIORITY_LEVEL),
  'StorageVersion.internal.apiserver.k8s.io': kindTable(STORAGE_VERSION),
  'StorageVersionMigration.storagemigration.k8s.io': kindTable(MIGRATION),
  'APIService.apiregistration.k8s.io': kindTable(API_SERVICE),
};
