internal import Foundation

/// Where the program starts.
@main
struct Main {
    static func main() async {
        holdDescriptors()
        // A connection that ends, or a limit on file sizes, is told by the call that met it.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let command = Command(
            words: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment)
        let status = await command.run()
        exit(status.rawValue)
    }

    /// Where one of the three standard descriptors is closed, the next file to be opened would get
    /// its number, and be read or written for it. What takes its place refuses both.
    private static func holdDescriptors() {
        for (descriptor, mode) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", mode)
        }
    }
}
