import { must, type Rule } from './rule.ts';

const certificate: Rule = ({ tlsCertFile, tlsPrivateKeyFile }) =>
  must(
    (tlsCertFile === '') === (tlsPrivateKeyFile === ''),
    'tlsCertFile',
    'must be set together with tlsPrivateKeyFile',
  );

export const SERVER_RULES: Rule[] = [certificate];
