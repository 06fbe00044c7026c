import { runPlugin } from '@podwright/nri';

// Limits the memory of containers in pods annotated with memory.example/limit, and reports when containers exit.
const [socket] = process.argv.slice(2);
const plugin = await runPlugin({
  name: 'memory-limit',
  index: '10',
  ...(socket === undefined ? {} : { socket }),
  handlers: {
    synchronize(pods, containers) {
      console.log(`${pods.length} pods with ${containers.length} containers`);
      return [];
    },
    createContainer({ pod, container }) {
      const limit = pod?.annotations['memory.example/limit'];
      if (limit === undefined) return undefined;
      console.log(`limit ${pod?.namespace}/${pod?.name}/${container?.name} to ${limit} bytes`);
      return { adjust: { linux: { resources: { memory: { limit: { value: BigInt(limit) } } } } } };
    },
    stopContainer({ container }) {
      console.log(`${container?.name} has exited with ${container?.exitCode}`);
      return undefined;
    },
  },
});
await plugin.closed;
