import type { DescMessage, DescService } from '@bufbuild/protobuf';
import { ImageService, ImageTransfers, RuntimeService, Traces } from '@podwright/cri';

/** A method that the proxy can decode. */
export type CriMethod = {
  /** The name of the method, such as `RunPodSandbox`. */
  name: string;
  path: string;
  /** The protobuf package of the method's service: `runtime.v1`, `runtime.v1alpha2`, or the package of a Podwright service. */
  packageName: string;
  kind: 'unary' | 'server_streaming';
  input: DescMessage;
  output: DescMessage;
};

const PACKAGES: Record<string, string[]> = { 'runtime.v1': ['runtime.v1', 'runtime.v1alpha2'] };

/** Returns the methods of Podwright's services and of both CRI versions, which share the same messages, by path. */
export function criMethods(): ReadonlyMap<string, CriMethod> {
  const services: DescService[] = [RuntimeService, ImageService, ImageTransfers, Traces];
  const all = services.flatMap((service) => {
    const own = service.file.proto.package;
    return (PACKAGES[own] ?? [own]).flatMap((packageName) =>
      service.methods.map(({ name, methodKind, input, output }): CriMethod => {
        const kind = methodKind === 'unary' ? 'unary' : 'server_streaming';
        return { name, path: `/${packageName}.${service.name}/${name}`, packageName, kind, input, output };
      }),
    );
  });
  return new Map(all.map((method) => [method.path, method]));
}

/** Returns the last segment of a path, which is the method name. */
export function nameOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the names of all methods that script rules may refer to. */
export function criMethodNames(): string[] {
  return [...new Set([...criMethods().values()].map(({ name }) => name))];
}
