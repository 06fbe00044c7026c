export { type CertificatePair, readPair } from './certificate-pair.ts';
export { openNodeIdentity } from './node-identity.ts';
export { kubeconfigText } from './node-kubeconfig.ts';
export { selfSignedCertificate } from './self-signed-certificate.ts';
export { startServingCertificate } from './serving-certificate.ts';
