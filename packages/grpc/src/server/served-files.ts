import { clone, type DescFile, toBinary } from '@bufbuild/protobuf';
import { type DescriptorProto, type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';

/** A service as served. Its package can differ from that of its proto file, and it can lack some of the file's methods. */
export type ServedService = {
  fullName: string;
  packageName: string;
  file: DescFile;
  /** Method names, such as `RunPodSandbox`. */
  methods: readonly string[];
};

/** The proto files of the served services, by file name and by symbol. */
export class ServedFiles {
  readonly #files = new Map<string, FileDescriptorProto>();
  readonly #fileOfSymbol = new Map<string, string>();
  readonly #methods: ReadonlyMap<string, readonly string[]>;

  constructor(services: readonly ServedService[]) {
    this.#methods = new Map(services.map(({ fullName, methods }) => [fullName, methods]));
    for (const service of services) this.#add(service, service.file);
  }

  /** Returns the encoded descriptors of a file and all its imports, or `undefined` if the file is unknown. */
  withImports(name: string): Uint8Array[] | undefined {
    if (!this.#files.has(name)) return undefined;
    const names = new Set([name]);
    for (const each of names) for (const dependency of this.#files.get(each)?.dependency ?? []) names.add(dependency);
    return [...names].map((each) => toBinary(FileDescriptorProtoSchema, this.#files.get(each)!));
  }

  /** Returns the name of the file that declares a message, enum, service or method. */
  fileOf(symbol: string): string | undefined {
    return this.#fileOfSymbol.get(symbol);
  }

  #add(service: ServedService, original: DescFile): void {
    const file = this.#asServed(original.proto, service);
    if (this.#files.has(file.name)) return;
    this.#files.set(file.name, file);
    for (const symbol of symbolsOf(file)) this.#fileOfSymbol.set(symbol, file.name);
    for (const dependency of original.dependencies) this.#add(service, dependency);
  }

  /** Returns the file's descriptor, adapted to the package and methods actually served. */
  #asServed(original: FileDescriptorProto, { file: { proto }, packageName }: ServedService): FileDescriptorProto {
    if (original.package !== proto.package || original.package === packageName) return original;
    const file = clone(FileDescriptorProtoSchema, original);
    moveToPackage(file, packageName);
    for (const service of file.service) {
      const methods = this.#methods.get(`${packageName}.${service.name}`) ?? [];
      service.method = service.method.filter(({ name }) => methods.includes(name));
    }
    return file;
  }
}

/** Changes the package of a file descriptor, including the file's own name and all references to its types. */
function moveToPackage(file: FileDescriptorProto, to: string): void {
  const from = file.package;
  const path = (name: string) => name.replace(from.replaceAll('.', '/'), to.replaceAll('.', '/'));
  const type = (name: string) => (name.startsWith(`.${from}.`) ? `.${to}${name.slice(from.length + 1)}` : name);
  file.name = path(file.name);
  file.package = to;
  file.dependency = file.dependency.map(path);
  for (const field of withNested('', file.messageType).flatMap(({ message }) => message.field)) {
    field.typeName = type(field.typeName);
  }
  for (const method of file.service.flatMap((service) => service.method)) {
    method.inputType = type(method.inputType);
    method.outputType = type(method.outputType);
  }
}

function symbolsOf(file: FileDescriptorProto): string[] {
  const messages = withNested(file.package, file.messageType);
  return [
    ...messages.flatMap(({ name, message }) => [name, ...message.enumType.map((each) => `${name}.${each.name}`)]),
    ...file.enumType.map(({ name }) => `${file.package}.${name}`),
    ...file.service.flatMap(({ name, method }) => {
      const service = `${file.package}.${name}`;
      return [service, ...method.map((each) => `${service}.${each.name}`)];
    }),
  ];
}

function withNested(scope: string, messages: DescriptorProto[]): { name: string; message: DescriptorProto }[] {
  return messages.flatMap((message) => {
    const name = `${scope}.${message.name}`;
    return [{ name, message }, ...withNested(name, message.nestedType)];
  });
}
