import type { DescFile } from '@bufbuild/protobuf';
import { clone, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';

/** A service as it is served, for those who ask the server what it has. */
export type VisibleService = { fullName: string; packageName: string; file: DescFile };

/**
 * Adds the standard services by which a client asks what a server has (grpc.reflection.v1 and v1alpha) and whether
 * it is well (grpc.health.v1). Returns the function that turns the health of everything to NOT_SERVING.
 */
export function addIntrospection(server: Server, services: VisibleService[]): () => void {
  // the reflection service reads nothing but the files of a definition
  const definitions: unknown = Object.fromEntries(
    services.map(({ fullName, packageName, file }) => [fullName, { fileDescriptorProtos: filesOf(file, packageName) }]),
  );
  const shown = { services: services.map(({ fullName }) => fullName) };
  new ReflectionService(definitions as ConstructorParameters<typeof ReflectionService>[0], shown).addToServer(server);
  const names = ['', ...services.map(({ fullName }) => fullName)];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'SERVING'])));
  health.addToServer(server);
  return () => {
    for (const name of names) health.setStatus(name, 'NOT_SERVING');
  };
}

/** The file and all that it imports, under the package that they are served in. */
function filesOf(file: DescFile, packageName: string): Buffer[] {
  const files = new Set<DescFile>();
  const visit = (one: DescFile) => {
    files.add(one);
    for (const dependency of one.dependencies) if (!files.has(dependency)) visit(dependency);
  };
  visit(file);
  const own = file.proto.package;
  return [...files].map((one) =>
    Buffer.from(
      toBinary(FileDescriptorProtoSchema, own === packageName ? one.proto : inPackage(one.proto, own, packageName)),
    ),
  );
}

/** The file as if it had been written for the package `to`; references to other packages stay. */
function inPackage(original: FileDescriptorProto, from: string, to: string): FileDescriptorProto {
  if (original.package !== from) return original;
  const file = clone(FileDescriptorProtoSchema, original);
  const directory = (name: string, packageName: string) =>
    name.replace(from.replaceAll('.', '/'), packageName.replaceAll('.', '/'));
  const rename = (type: string) => (type.startsWith(`.${from}.`) ? `.${to}${type.slice(from.length + 1)}` : type);
  file.name = directory(file.name, to);
  file.package = to;
  file.dependency = file.dependency.map((name) => directory(name, to));
  const messages = [...file.messageType];
  for (let message = messages.pop(); message !== undefined; message = messages.pop()) {
    for (const field of message.field) field.typeName = rename(field.typeName);
    messages.push(...message.nestedType);
  }
  for (const method of file.service.flatMap((service) => service.method)) {
    method.inputType = rename(method.inputType);
    method.outputType = rename(method.outputType);
  }
  return file;
}
