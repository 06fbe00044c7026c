import { formatDuration } from '@podwright/kube-api';
import { must, type Rule } from './rule.ts';

const parallelPulls: Rule = ({ maxParallelImagePulls: parallel, serializeImagePulls }) =>
  must(
    !serializeImagePulls || parallel === undefined || parallel <= 1,
    'maxParallelImagePulls',
    'must not be larger than 1 while serializeImagePulls is true',
  );

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

const allowlist: Rule = (configuration) =>
  must(
    configuration.preloadedImagesVerificationAllowlist.length === 0 ||
      configuration.imagePullCredentialsVerificationPolicy === 'NeverVerifyAllowlistedImages',
    'preloadedImagesVerificationAllowlist',
    'is only for imagePullCredentialsVerificationPolicy NeverVerifyAllowlistedImages',
  );

const providers: Rule = ({ imageCredentialProviderConfig: config, imageCredentialProviderBinDir: directory }) =>
  must(
    (config === '') === (directory === ''),
    config === '' ? 'imageCredentialProviderConfig' : 'imageCredentialProviderBinDir',
    'must be set too: both are needed',
  );

export const IMAGE_RULES: Rule[] = [parallelPulls, garbage, allowlist, providers];
