/** Manifests for the dashboard tests. */
import { exampleImage, forever } from '../pods/node.fixture.ts';

type PodOptions = { name: string; script?: string; container?: string; metadata?: string; spec?: string };

/** Returns a pod whose container runs a script. `container`, `metadata` and `spec` are additional fields in YAML flow style. */
export function pod({ name, script = forever, container = '', metadata = '', spec = '' }: PodOptions): string {
  const fields = `name: main, image: "${exampleImage}", command: [sh, -c, ${JSON.stringify(script)}]`;
  return (
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}${metadata && `, ${metadata}`}}\n` +
    `spec: {terminationGracePeriodSeconds: 0, ${spec && `${spec}, `}containers: [{${fields}${container && `, ${container}`}}]}\n`
  );
}

export const configMap = (name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;

export const service = (name: string, app: string) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: {selector: {app: ${app}}, ports: [{port: 80, targetPort: 8080}]}\n`;

export const together = (...documents: string[]) => documents.join('---\n');
