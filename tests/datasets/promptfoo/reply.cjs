// A provider that answers what the test says.
module.exports = class {
  id() { return 'reply'; }
  async callApi(prompt, context) { return { output: context.vars.reply }; }
};
