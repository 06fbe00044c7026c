import { decodeManifest, qosClass } from '@podwright/kube-api';

const manifest = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: server
    image: nginx:1.29
    resources: {requests: {cpu: 250m, memory: 64Mi}}
`;
const { pods, errors } = decodeManifest(manifest, { file: 'web.yaml' });
for (const pod of pods) console.log(`${pod.metadata.name}: ${qosClass(pod)}, restarted ${pod.spec.restartPolicy}`);
console.log(`${errors.length} errors`);

// unknown fields, wrong types and invalid values are errors, each reported with its line and field
const wrong = decodeManifest(manifest.replace('image: nginx:1.29', 'imagee: nginx'), { file: 'wrong.yaml' });
for (const error of wrong.errors) console.log(String(error));
