import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isQuantity, parseQuantity } from '@podwright/kube-api';
import { must, type Rule, within } from './rule.ts';

const IDS_UNIT = 65_536;
const MIN_MONITOR_MS = 3000;

const logs: Rule = (configuration) => {
  const { podLogsDir: directory, containerLogMaxSize: size } = configuration;
  const isPlain = resolve(directory) === directory && /^[\0-\x7f]*$/.test(directory);
  const isSize = isQuantity(size) && parseQuantity(size).nanos > 0n;
  return [
    ...must(isPlain, 'podLogsDir', 'must be an absolute path of ASCII characters without ., .. and a trailing slash'),
    ...must(isSize, 'containerLogMaxSize', 'must be an amount such as 10Mi'),
    ...must(configuration.containerLogMaxFiles > 1, 'containerLogMaxFiles', 'must be greater than 1'),
    ...must(
      configuration.containerLogMonitorInterval >= MIN_MONITOR_MS,
      'containerLogMonitorInterval',
      'must be at least 3s',
    ),
  ];
};

const dns: Rule = ({ clusterDNS }) =>
  clusterDNS.flatMap((address) =>
    must(isIP(address) !== 0, 'clusterDNS', `${address.slice(0, 60)} is not an IP address`),
  );

const manifestUrl: Rule = ({ staticPodURL: url }) =>
  must(
    url === '' || /^https?:\/\/[^/@]+(\/|$)/.test(url),
    'staticPodURL',
    'must be an http or https URL without user and password',
  );

const headerFields: Rule = ({ staticPodURLHeader }) =>
  Object.keys(staticPodURLHeader).flatMap((name) =>
    must(/^[\w!#$%&'*+.^`|~-]+$/.test(name), 'staticPodURLHeader', `${name.slice(0, 60)} is not a valid header name`),
  );

const restarts: Rule = (configuration) => {
  const period = configuration['crashLoopBackOff.maxContainerRestartPeriod'];
  return must(
    period >= 1000 && period <= 300_000,
    'crashLoopBackOff.maxContainerRestartPeriod',
    'must be between 1s and 300s',
  );
};

const idRanges: Rule = (configuration) => {
  const ids = configuration['userNamespaces.idsPerPod'];
  const isRange = ids >= IDS_UNIT && ids % IDS_UNIT === 0 && ids < 2 ** 32;
  return must(isRange, 'userNamespaces.idsPerPod', `must be a multiple of ${IDS_UNIT} of at most 32 bits`);
};

const sysctls: Rule = ({ allowedUnsafeSysctls }) =>
  allowedUnsafeSysctls.flatMap((name) =>
    must(
      /^([a-z0-9][-_a-z0-9]*[./])*([a-z0-9][-_a-z0-9]*|\*)$/.test(name.replace(/([a-z0-9_-])\*$/, '$1')),
      'allowedUnsafeSysctls',
      `${name.slice(0, 60)} is not a sysctl name, with or without a trailing *`,
    ),
  );

export const POD_RULES: Rule[] = [
  logs,
  dns,
  manifestUrl,
  headerFields,
  restarts,
  idRanges,
  sysctls,
  within(['containerLogMaxWorkers'], 1),
  within(['syncFrequency', 'fileCheckFrequency', 'httpCheckFrequency'], 1),
];
