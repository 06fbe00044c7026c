import { didYouMean, PodwrightError } from '@podwright/base';
import type { Command } from 'commander';

/** Verbs of kubectl, podman and docker that Podwright lacks, each with the command to use instead. */
const FOREIGN_VERBS: Record<string, string> = {
  replace: "'podwright apply FILE' changes what differs",
  set: "change the file and 'podwright apply FILE'",
  explain: "a field that is not supported is refused by name: 'podwright apply FILE' says so",
  diff: "'podwright get pod NAME -o yaml' prints what there is",
  kustomize: "pipe what it prints: 'kubectl kustomize DIR | podwright apply -'",
  'cluster-info': "'podwright version' and 'podwright get nodes' show the node",
  'api-resources':
    "'podwright get --help' names them: pods, configmaps, secrets, persistentvolumeclaims, runtimeclasses, events, nodes, images",
  config: "the node is configured by /etc/podwright/config.toml; 'podwright doctor' checks it",
  cordon: 'without [api], a standalone node runs only pods that are applied to it; with [api], use kubectl cordon',
  uncordon: 'without [api], a standalone node cannot be cordoned; with [api], use kubectl uncordon',
  drain: "'podwright delete pods --all' ends the pods of a namespace",
  rm: "'podwright delete POD' ends and removes a pod",
  kill: "'podwright delete POD --force' ends a pod at once",
  kube: "'podwright run FILE' is what 'kube play' does, 'podwright delete -f FILE' what 'kube down' does",
  play: "'podwright run FILE' runs the pods of a file",
  start: "'podwright apply FILE' starts pods in the background, 'podwright run FILE' in the foreground",
  inspect: "'podwright describe POD' for people, 'podwright get pod POD -o json' for programs",
  stats: "'podwright top pods -w' shows what pods use",
  container: "'podwright ps' lists pods, 'podwright describe POD' their containers",
  pod: "'podwright ps' lists pods, 'podwright run FILE' runs them, 'podwright delete POD' ends them",
  ls: "'podwright ps' lists pods, 'podwright images' images",
  image: "'podwright images', 'pull', 'load' and 'rmi' are the commands for images",
  import: "'podwright load FILE' takes image archives",
  build: "images are built elsewhere, such as with buildah or docker; 'podwright load FILE' takes their archive",
  push: "images are pushed by what builds them; 'podwright pull IMAGE' gets them",
  commit: "images are built elsewhere, such as with buildah or docker; 'podwright load FILE' takes their archive",
  tag: "an image has the names that its archive or its registry gives it; 'podwright load' and 'podwright pull' bring them",
  login: "'podwright pull --creds USER IMAGE', or an imagePullSecret in the pod",
  secret: "a Secret is an object of a manifest: 'podwright apply FILE'; 'podwright get secrets' lists them",
  port: "'podwright describe POD' shows the ports of a pod, 'podwright port-forward POD [LOCAL:]REMOTE' makes one reachable here",
  volume:
    "volumes are declared in the pod; 'podwright get pvc' lists those that outlive it, 'podwright delete pvc NAME' removes one",
  network: "'podwright doctor' shows the network; its settings are in /etc/podwright/config.toml",
  info: "'podwright doctor' shows the host, 'podwright version' the node",
  system: "'podwright doctor' shows the host, 'podwright version' the node",
};

/** Makes an unknown verb fail with an error that names the equivalent Podwright command or, if there is none, the most similar one. */
export function answerForeignVerbs(program: Command): void {
  program.on('command:*', ([verb = '']: string[]) => {
    const shown = verb.slice(0, 60);
    const answer = Object.hasOwn(FOREIGN_VERBS, verb) ? FOREIGN_VERBS[verb] : undefined;
    if (answer !== undefined) throw new PodwrightError('unimplemented', `there is no command '${shown}': ${answer}`);
    const names = program.commands.map((command) => command.name());
    const hint = didYouMean(shown, names) || "; 'podwright --help' lists the commands";
    throw new PodwrightError('invalid_argument', `there is no command '${shown}'${hint}`);
  });
}
