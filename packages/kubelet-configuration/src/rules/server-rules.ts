import { errorMessage } from '@podwright/base';
import { parseCollectorEndpoint } from '@podwright/cri';
import { must, type Rule, within } from './rule.ts';

/** OpenSSL's names of the cipher suites up to TLS 1.2 by their IANA names: the part of Go's list that OpenSSL still supports. */
export const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};

const ports: Rule = ({ port, readOnlyPort, healthzPort }) => [
  ...must(isPort(port), 'port', 'must be between 1 and 65535'),
  ...must(readOnlyPort === 0 || isPort(readOnlyPort), 'readOnlyPort', 'must be between 0 and 65535'),
  ...must(healthzPort === 0 || isPort(healthzPort), 'healthzPort', 'must be between 0 and 65535'),
];

const isPort = (port: number) => port >= 1 && port <= 65_535;

const certificate: Rule = ({ tlsCertFile, tlsPrivateKeyFile }) =>
  must(
    (tlsCertFile === '') === (tlsPrivateKeyFile === ''),
    'tlsCertFile',
    'must be set together with tlsPrivateKeyFile',
  );

const cipherSuites: Rule = ({ tlsCipherSuites }) =>
  tlsCipherSuites.flatMap((name) =>
    must(Object.hasOwn(CIPHER_SUITES, name), 'tlsCipherSuites', `unknown cipher suite ${name.slice(0, 60)}`),
  );

/** Upstream accepts only the previous minor version. */
const hiddenMetrics: Rule = ({ showHiddenMetricsForVersion: version }) =>
  must(version === '' || version === '1.35', 'showHiddenMetricsForVersion', 'must be the previous version, 1.35');

const tracing: Rule = (configuration) => {
  const { 'tracing.endpoint': endpoint = '', 'tracing.samplingRatePerMillion': rate = 0 } = configuration;
  return [
    ...(endpoint === '' ? [] : collectorProblems(endpoint)),
    ...must(rate >= 0 && rate <= 1_000_000, 'tracing.samplingRatePerMillion', 'must be between 0 and 1000000'),
  ];
};

function collectorProblems(endpoint: string): ReturnType<Rule> {
  try {
    parseCollectorEndpoint(endpoint);
    return [];
  } catch (error) {
    return must(false, 'tracing.endpoint', errorMessage(error));
  }
}

export const SERVER_RULES: Rule[] = [
  tracing,
  ports,
  certificate,
  cipherSuites,
  hiddenMetrics,
  within(
    [
      'authentication.webhook.cacheTTL',
      'authorization.webhook.cacheAuthorizedTTL',
      'authorization.webhook.cacheUnauthorizedTTL',
      'streamingConnectionIdleTimeout',
    ],
    0,
  ),
];
