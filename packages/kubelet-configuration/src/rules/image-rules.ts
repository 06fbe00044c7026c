import { formatDuration } from '@podwright/kube-api';
import { allowlistProblem } from '../verification-policy.ts';
import { must, type Rule, within } from './rule.ts';

const parallelPulls: Rule = ({ maxParallelImagePulls: parallel, serializeImagePulls }) => [
  ...must(parallel === undefined || parallel >= 1, 'maxParallelImagePulls', 'must be at least 1'),
  ...must(
    !serializeImagePulls || parallel === undefined || parallel <= 1,
    'maxParallelImagePulls',
    'must not be larger than 1 while serializeImagePulls is true',
  ),
];

const garbage: Rule = (configuration) => {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = configuration;
  const { imageMinimumGCAge: least, imageMaximumGCAge: most } = configuration;
  return [
    ...must(
      low < high,
      'imageGCLowThresholdPercent',
      `must be less than imageGCHighThresholdPercent, which is ${high}`,
    ),
    ...must(
      most <= 0 || most > least,
      'imageMaximumGCAge',
      `must be greater than imageMinimumGCAge, which is ${formatDuration(least)}`,
    ),
  ];
};

const endpoint: Rule = ({ containerRuntimeEndpoint }) =>
  must(containerRuntimeEndpoint !== '', 'containerRuntimeEndpoint', 'must not be empty');

const allowlist: Rule = (configuration) =>
  must(
    configuration.preloadedImagesVerificationAllowlist.length === 0 ||
      configuration.imagePullCredentialsVerificationPolicy === 'NeverVerifyAllowlistedImages',
    'preloadedImagesVerificationAllowlist',
    'is only for imagePullCredentialsVerificationPolicy NeverVerifyAllowlistedImages',
  );

const allowed: Rule = ({ preloadedImagesVerificationAllowlist: patterns }) =>
  patterns.flatMap((pattern) => {
    const problem = allowlistProblem(pattern);
    return must(problem === undefined, 'preloadedImagesVerificationAllowlist', `"${pattern}" ${problem}`);
  });

const providers: Rule = ({ imageCredentialProviderConfig: config, imageCredentialProviderBinDir: directory }) =>
  must(
    (config === '') === (directory === ''),
    config === '' ? 'imageCredentialProviderConfig' : 'imageCredentialProviderBinDir',
    'must be set too: both are needed',
  );

export const IMAGE_RULES: Rule[] = [
  parallelPulls,
  garbage,
  endpoint,
  allowlist,
  allowed,
  providers,
  within(['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'], 0, 100),
  within(['imageMinimumGCAge', 'imageMaximumGCAge', 'registryPullQPS', 'registryBurst'], 0),
  within(['runtimeRequestTimeout'], 1),
];
