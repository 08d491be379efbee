import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { type Server, connect, createServer } from "node:net";
import { join } from "node:path";

/**
 * Exclusive use of a directory, given up by the death of the process, however it dies: a unix-domain socket in the
 * directory, on which its owner listens. Whoever can connect to another's socket stays out.
 *
 * 1. A newcomer listens on a socket of its own, under a name that nobody else takes.
 * 2. Only then it lists the directory and tries every other socket. One that accepts is alive: the newcomer withdraws.
 * 3. It makes sure that its own socket is still listed; if not, somebody took it for dead, and it withdraws.
 * 4. It has the directory, and only now removes the sockets that were dead.
 *
 * Of two newcomers, the one that listens last tries the other's socket after that one listens: both cannot have the
 * directory, though both may withdraw. A socket that is bound and does not listen yet looks dead and may be removed in 4;
 * its maker then finds the remover alive in 2, or itself missing in 3.
 */
export interface DirectoryLock {
  /** Whether the directory at this path is still the one that was taken: it may have been replaced. */
  stillHeld(): boolean;
  release(): Promise<void>;
}

/** The directory is used by another process, or by another plane of this one. */
export class DirectoryInUse extends Error {}

const NAME = /^owner\.(\d+)\.[0-9a-f]+\.sock$/;
/** Longest path that every system takes for a unix-domain socket. */
const SOCKET_PATH_MAX = 100;

/** Takes `directory`, which must exist. @throws DirectoryInUse; system errors where the directory takes no socket */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  const own = `owner.${process.pid}.${randomBytes(8).toString("hex")}.sock`;
  const pathOf = (name: string): string => socketPath(directory, handle, name);
  let server: Server | undefined;
  const release = async (): Promise<void> => {
    if (server !== undefined) await closeServer(server);
    closeSync(handle);
  };
  try {
    server = await listen(pathOf(own));
    const dead = await deadSockets(directory, own, pathOf);
    for (const name of dead) unlinkIfThere(join(directory, name));
    const made = statSync(join(directory, own));
    const stillHeld = (): boolean => {
      const found = statSync(join(directory, own), { throwIfNoEntry: false });
      return found?.ino === made.ino && found.dev === made.dev;
    };
    return { stillHeld, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Tries every other socket; returns the dead ones. @throws DirectoryInUse when one is alive, or our own is gone */
async function deadSockets(directory: string, own: string, pathOf: (name: string) => string): Promise<string[]> {
  const names = readdirSync(directory).filter((name) => NAME.test(name));
  const others = names.filter((name) => name !== own);
  for (const name of others) {
    if (await isAlive(pathOf(name))) {
      const pid = NAME.exec(name)?.[1] ?? "unknown";
      throw new DirectoryInUse(`the directory ${directory} is in use by process ${pid}: end that process`);
    }
  }
  // Listed again, because what was tried above may have removed it since.
  if (!readdirSync(directory).includes(own)) {
    throw new DirectoryInUse(`the directory ${directory} was taken by another process that starts now`);
  }
  return others;
}

/** A short path to the socket: where the directory's own path is too long for one, by way of its descriptor. */
function socketPath(directory: string, handle: number, name: string): string {
  const direct = join(directory, name);
  return Buffer.byteLength(direct) <= SOCKET_PATH_MAX ? direct : `/proc/self/fd/${handle}/${name}`;
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

/** Whether somebody listens. Only a refused connection or a missing socket proves that nobody does. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT");
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
