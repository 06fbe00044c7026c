import { silentLogger } from '@podwright/base';
import { ContainerState, connectCri } from '@podwright/cri';

const [runtimeEndpoint = 'unix:///run/containerd/containerd.sock'] = process.argv.slice(2);
const cri = await connectCri({ runtimeEndpoint, logger: silentLogger });

const { runtimeName, runtimeVersion } = await cri.runtime.version({});
console.log(`${runtimeName} ${runtimeVersion} with CRI ${cri.apiVersion}`);

const { containers } = await cri.runtime.listContainers({
  filter: { labelSelector: { 'io.kubernetes.pod.namespace': 'default' } },
});
for (const { id, metadata, state, image } of containers)
  console.log(`${id} ${metadata?.name} ${ContainerState[state]} ${image?.image}`);

const { images } = await cri.image.listImages({});
console.log(`${images.length} images`);
cri.close();
