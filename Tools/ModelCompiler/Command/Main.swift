import ModelCompiler

/// `diptych-modelc`: compiles Core Data models and serves `@NSManaged`. The build plugin calls it.
@main struct Main {
    static func main() { CompilerArguments.run(CommandLine.arguments) }
}
